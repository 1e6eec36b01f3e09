package state

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

const (
	caFile  = "ca.pem"
	tlsFile = "tls.pem" // the private half
)

// The certificate is valid at any time that the clock of a laptop may show.
var (
	notBefore = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	notAfter  = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

// Certificate is the server's certificate, which signs itself, and the path of its public half, which clients pin. It
// is made where there is none, or where its two halves do not fit.
func (d *Dir) Certificate() (tls.Certificate, string, error) {
	path := d.file(caFile)
	if cert, err := tls.LoadX509KeyPair(path, d.file(tlsFile)); err == nil {
		return cert, path, nil
	}
	public, private, err := makeCertificate()
	if err != nil {
		return tls.Certificate{}, "", fmt.Errorf("make certificate: %w", err)
	}
	if err := replace(d.file(tlsFile), private); err != nil {
		return tls.Certificate{}, "", err
	}
	if err := replace(path, public); err != nil {
		return tls.Certificate{}, "", err
	}
	cert, err := tls.X509KeyPair(public, private)
	if err != nil {
		return tls.Certificate{}, "", fmt.Errorf("make certificate: %w", err)
	}
	return cert, path, nil
}

// CA is the path of the certificate that clients pin.
func (d *Dir) CA() (string, error) {
	path := d.file(caFile)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("find the server's certificate: %w", err)
	}
	return path, nil
}

// makeCertificate makes a P-256 certificate for 127.0.0.1, as PEM blocks.
func makeCertificate() (public, private []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, nil, err
	}
	cert := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: "peerbus"},
		NotBefore:             notBefore,
		NotAfter:              notAfter,
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1).To4()},
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		return nil, nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), nil
}
