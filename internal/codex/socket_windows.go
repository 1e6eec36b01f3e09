package codex

func controlSocket(string) (string, error) { return "", errUnseen }
