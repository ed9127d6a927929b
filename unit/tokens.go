package unit

// MostTokens is more than any model holds: a larger number is none of tokens.
const MostTokens = 100_000_000
