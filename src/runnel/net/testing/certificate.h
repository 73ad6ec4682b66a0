#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "runnel/core/ids.h"

namespace runnel::net {

// For tests: a self-signed certificate for 127.0.0.1, and the TLS context of a server that presents it.
class TestCertificate {
 public:
  TestCertificate() {
    auto* const certificate = certificate_.get();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key_.get());
    auto* const name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<unsigned char const*>("test"), -1,
                               -1, 0);
    X509_set_issuer_name(certificate, name);
    add_extension(NID_subject_alt_name, "IP:127.0.0.1");
    add_extension(NID_basic_constraints, "critical,CA:TRUE");
    X509_sign(certificate, key_.get(), EVP_sha256());
    SSL_CTX_use_certificate(server_.get(), certificate);
    SSL_CTX_use_PrivateKey(server_.get(), key_.get());
    write();
  }
  TestCertificate(TestCertificate const&) = delete;
  TestCertificate& operator=(TestCertificate const&) = delete;
  ~TestCertificate() { std::filesystem::remove(file_); }

  [[nodiscard]] SSL_CTX* server() const { return server_.get(); }
  [[nodiscard]] std::string file() const { return file_.string(); }

 private:
  void add_extension(int id, char const* value) {
    std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> const extension{
        X509V3_EXT_conf_nid(nullptr, nullptr, id, value), &X509_EXTENSION_free};
    X509_add_ext(certificate_.get(), extension.get(), -1);
  }

  void write() const {
    std::unique_ptr<std::FILE, decltype(&std::fclose)> const out{std::fopen(file_.c_str(), "w"),
                                                                 &std::fclose};
    if (!out || PEM_write_X509(out.get(), certificate_.get()) != 1)
      throw std::runtime_error{"cannot write the certificate"};
  }

  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_{EVP_EC_gen("P-256"), &EVP_PKEY_free};
  std::unique_ptr<X509, decltype(&X509_free)> certificate_{X509_new(), &X509_free};
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> server_{SSL_CTX_new(TLS_server_method()), &SSL_CTX_free};
  std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("runnel-ca-" + mint_uuid() + ".pem");
};

}  // namespace runnel::net
