package claude

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// What is here takes valid JSON apart without changing it, and takes nothing but valid JSON.

// next is s from its next token on that is no comma and no colon.
func next(s []byte) []byte { return bytes.TrimLeft(s, " \t\r\n,:") }

// valueLen is the length of the value that s begins with.
func valueLen(s []byte) int {
	switch s[0] {
	case '"':
		return stringLen(s)
	case '{', '[':
		depth := 0
		for i := 0; ; i++ {
			switch s[i] {
			case '"':
				i += stringLen(s[i:]) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	return bytes.IndexAny(s, " \t\r\n,}]")
}

// stringLen is the length of the string that s begins with, with its quotes.
func stringLen(s []byte) int {
	for i := 1; ; i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// unquote is the string that v is, unless it has bytes that are not UTF-8.
func unquote(v []byte) (s string, ok bool) {
	if !utf8.Valid(v) {
		return "", false
	}
	if bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1]), true
	}
	err := json.Unmarshal(v, &s)
	return s, err == nil
}
