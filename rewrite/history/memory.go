package history

// Memory is about how many bytes the history takes.
func (h *History) Memory() int {
	const perItem, perResult = 32 + 4*8 + 8, 460
	n := len(h.Sizes)*perItem + len(h.Results)*perResult
	for k := range h.Results {
		res := &h.Results[k]
		n += len(res.About) + sizeOfTexts(res.Files) + sizeOfTexts(res.Cites)
	}
	return n
}

// sizeOfTexts is about how many bytes a list of texts takes.
func sizeOfTexts(list []string) (n int) {
	for _, s := range list {
		n += 16 + len(s)
	}
	return n
}
