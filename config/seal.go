package config

import (
	"os"

	"epitome/store/seal"
	"epitome/unit"
)

// SealKeyEnv is the environment variable that may hold the key of a sealed data folder.
const SealKeyEnv = seal.KeyEnv

// OpenSeal returns what the data folder is sealed with, nil if it is plain and is to stay so. It marks the folder if it
// is to be sealed from now on. It refuses a folder of a newer epitome: what is sealed there may be sealed otherwise.
func OpenSeal(c OffloadConfig, folder string) (*seal.Seal, error) {
	if err := checkFormat(folder); err != nil {
		return nil, err
	}
	key, err := sealKey(c, folder)
	if err != nil {
		return nil, err
	}
	by, err := seal.Open(folder, key, c.Seal)
	return by, wrongSeal(err)
}

// admitSeal refuses what OpenSeal would refuse, and writes nothing.
func admitSeal(c OffloadConfig, folder string) error {
	key, err := sealKey(c, folder)
	if err != nil {
		return err
	}
	return wrongSeal(seal.Check(folder, key, c.Seal))
}

func sealKey(c OffloadConfig, folder string) (*seal.Key, error) {
	key, err := seal.FindKey(os.LookupEnv, c.KeyFile, folder)
	if err != nil && c.KeyFile != "" {
		return nil, unit.Wrong([]string{"offload", "key_file"}, "cannot use offload.key_file: %w", err)
	}
	return key, err
}

func wrongSeal(err error) error {
	if err == nil {
		return nil
	}
	return unit.Wrong([]string{"offload", "seal"}, "cannot use the data folder: %w", err)
}

// checkAddress refuses stubs that name files which only epitome can read.
func checkAddress(c OffloadConfig) error {
	if !c.Seal || c.Address != "path" && c.Address != "both" {
		return nil
	}
	return unit.Wrong([]string{"offload", "seal"}, "cannot use offload.seal with offload.address %q: agents cannot read a "+
		`sealed file; write address = "url" beside it, "tool", "auto" or "none"`, c.Address)
}
