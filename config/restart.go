package config

// NeedRestart lists the keys in which the two differ and which only a new start takes up.
func NeedRestart(running, wanted Config) []string {
	was, is := running.Proxy, wanted.Proxy
	var keys []string
	for _, fixed := range []struct {
		key     string
		differs bool
	}{
		{"listen", running.Listen != wanted.Listen},
		{"data", running.Data != wanted.Data},
		{"tls.cert_file", running.TLS.CertFile != wanted.TLS.CertFile},
		{"tls.key_file", running.TLS.KeyFile != wanted.TLS.KeyFile},
		{"offload.address", running.Offload.Address != wanted.Offload.Address},
		{"offload.bucket", running.Offload.Bucket != wanted.Offload.Bucket},
		{"offload.secret_file", running.Offload.Secret != wanted.Offload.Secret},
		{"offload.quota", running.Offload.Quota != wanted.Offload.Quota},
		{"offload.folder", running.Offload.Folder != wanted.Offload.Folder},
		{"offload.url", running.Offload.URL != wanted.Offload.URL},
		{"store.keep", running.Store.Keep != wanted.Store.Keep},
		{"store.sync_every", running.Store.SyncEvery != wanted.Store.SyncEvery},
		{"store.url", running.Store.URL != wanted.Store.URL},
		{"store.prefix", running.Store.Prefix != wanted.Store.Prefix},
		{"store.timeout", running.Store.Timeout != wanted.Store.Timeout},
		{"store.sentinel_password", running.Store.SentinelPassword != wanted.Store.SentinelPassword},
		{"store.ca", running.Store.CA != wanted.Store.CA},
		{"store.cert", running.Store.Cert != wanted.Store.Cert},
		{"store.key", running.Store.Key != wanted.Store.Key},
		{"log.level", running.Log.Level != wanted.Log.Level},
		{"log.format", running.Log.Format != wanted.Log.Format},
		{"log.file", running.Log.File != wanted.Log.File},
		{"log.quota", running.Log.Quota != wanted.Log.Quota},
		{"otel.endpoint", running.Otel.Endpoint != wanted.Otel.Endpoint},
		{"events.quota", running.Events.Quota != wanted.Events.Quota},
		{"proxy.max_in_flight", was.MaxInFlight != is.MaxInFlight},
		{"proxy.max_connections", was.MaxConnections != is.MaxConnections},
	} {
		if fixed.differs {
			keys = append(keys, fixed.key)
		}
	}
	return keys
}
