package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Client is the gateway behind a base URL.
type Client struct {
	URL  string
	HTTP *http.Client
}

type charge struct {
	ID       string `json:"id,omitempty"`
	Ref      string `json:"merchant_ref"`
	Cents    int64  `json:"cents"`
	Currency string `json:"currency,omitempty"`
}

// Post implements Gateway.
func (c Client) Post(ctx context.Context, wanted Charge) (Receipt, error) {
	text, err := json.Marshal(charge{Ref: wanted.Ref, Cents: wanted.Cents, Currency: wanted.Currency})
	if err != nil {
		return Receipt{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+"/v2/charges", bytes.NewReader(text))
	if err != nil {
		return Receipt{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	if wanted.Key != "" {
		request.Header.Set("Idempotency-Key", wanted.Key)
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		return Receipt{}, fmt.Errorf("%w: %w", ErrUnclear, err)
	}
	defer response.Body.Close()
	if err := failure(response); err != nil {
		return Receipt{}, err
	}
	var booked charge
	if err := json.NewDecoder(response.Body).Decode(&booked); err != nil {
		return Receipt{}, fmt.Errorf("%w: %w", ErrUnclear, err)
	}
	return Receipt{ID: booked.ID, Ref: booked.Ref, Cents: booked.Cents}, nil
}

// failure returns what the status of an answer to a charge means.
func failure(response *http.Response) error {
	switch status := response.StatusCode; {
	case status == http.StatusCreated:
		return nil
	case status == http.StatusTooManyRequests:
		seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
		if err != nil || seconds < 1 {
			seconds = 1
		}
		return Busy{After: time.Duration(seconds) * time.Second}
	case status >= 500:
		return fmt.Errorf("%w: status %d", ErrUnclear, status)
	default:
		why, _ := io.ReadAll(io.LimitReader(response.Body, 200))
		return fmt.Errorf("%w: status %d %s", ErrRefused, status, why)
	}
}

// Find implements Gateway.
func (c Client) Find(ctx context.Context, ref string) (Receipt, bool, error) {
	address := c.URL + "/v2/charges?merchant_ref=" + url.QueryEscape(ref)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return Receipt{}, false, err
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		return Receipt{}, false, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return Receipt{}, false, fmt.Errorf("gateway: status %d for %s", response.StatusCode, ref)
	}
	var found []charge
	if err := json.NewDecoder(response.Body).Decode(&found); err != nil {
		return Receipt{}, false, err
	}
	if len(found) == 0 {
		return Receipt{}, false, nil
	}
	return Receipt{ID: found[0].ID, Ref: found[0].Ref, Cents: found[0].Cents}, true, nil
}
