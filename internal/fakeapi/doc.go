// Package fakeapi plays the providers that tests put behind epitome. It shares no code with what it judges.
//
// A Provider is a strict server of Chat Completions, Messages and Responses. It refuses a request that breaks a rule of
// its API, in the API's words. It knows each thinking block, opaque string and ID that it issued, and accepts them only
// in their place. It accounts tokens and a prompt cache, and reports in one of many ways that the window is full. The
// same requests in the same order get the same bytes.
package fakeapi
