#include "runnel/base/tokens/key_ring.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "runnel/base/testing/test_keys.h"
#include "runnel/base/tokens/key_file.h"

namespace runnel::base {
namespace {

namespace fs = std::filesystem;

class KeyRingTest : public testing::Test {
 protected:
  [[nodiscard]] std::string own_key_fault() const {
    auto const ring = open_own_key(folder.path());
    return ring ? "none" : ring.error().detail;
  }
  // The error of loading, without the folder's name; "none" if loading succeeds.
  [[nodiscard]] std::string fault(Algorithm algorithm, std::vector<std::string> const& entries) const {
    auto const ring = KeyRing::load(algorithm, entries);
    if (ring) return "none";
    auto detail = ring.error().detail;
    for (auto at = detail.find(folder.path()); at != std::string::npos; at = detail.find(folder.path()))
      detail.replace(at, folder.path().string().size() + 1, "");
    return detail;
  }
  static std::string signed_with(KeyRing const& ring) { return ring.signing_key().sign("text"); }

  KeyFolder folder;
};

TEST_F(KeyRingTest, OwnKeyIsMadeOnceAndKeptForTheOwnerOnly) {
  auto const first = open_own_key(folder.path());
  ASSERT_TRUE(first.has_value()) << first.error().detail;
  auto const second = open_own_key(folder.path());
  ASSERT_TRUE(second.has_value()) << second.error().detail;

  EXPECT_EQ(signed_with(*first), signed_with(*second));
  EXPECT_EQ(fs::status(folder.path() / "auth.key").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::file_size(folder.path() / "auth.key"), 32u);
  EXPECT_EQ(std::distance(fs::directory_iterator{folder.path()}, {}), 1);
}

TEST_F(KeyRingTest, ProcessesThatStartAtOnceGetOneKey) {
  std::vector<std::string> signatures(8);
  std::vector<std::thread> threads;

  for (auto& signature : signatures) {
    threads.emplace_back(
        [this, &signature] { signature = signed_with(open_own_key(folder.path()).value()); });
  }
  for (auto& thread : threads)
    thread.join();

  EXPECT_EQ(std::set<std::string>(signatures.begin(), signatures.end()).size(), 1u);
}

TEST_F(KeyRingTest, OwnKeyThatOthersCanReadIsRefused) {
  for (unsigned const mode : {0640u, 0604u, 0620u}) {
    folder.write("auth.key", std::string(32, 'k'), mode);
    EXPECT_NE(own_key_fault().find("can be read by others"), std::string::npos) << mode;
  }
  folder.write("auth.key", std::string(32, 'k'), 0600);
  EXPECT_EQ(own_key_fault(), "none");
}

TEST_F(KeyRingTest, DamagedOwnKeyIsRefused) {
  for (std::size_t const size : {0u, 31u, 33u}) {
    folder.write("auth.key", std::string(size, 'k'));
    EXPECT_NE(own_key_fault().find("does not hold 32 bytes"), std::string::npos) << size;
  }
}

TEST_F(KeyRingTest, LinkOrFolderInPlaceOfTheOwnKeyIsRefused) {
  fs::create_symlink(folder.write("elsewhere", std::string(32, 'k')), folder.path() / "auth.key");
  EXPECT_NE(own_key_fault(), "none");

  fs::remove(folder.path() / "auth.key");
  fs::create_directory(folder.path() / "auth.key");
  EXPECT_NE(own_key_fault(), "none");
}

TEST_F(KeyRingTest, MissingFolderIsAnError) {
  EXPECT_EQ(open_own_key(folder.path() / "none").error().code, Errc::unavailable);
}

TEST_F(KeyRingTest, HTTP_3_SecretsAreLongAndNotForEveryone) {
  std::string const secret(32, 's');
  EXPECT_EQ(fault(Algorithm::hs256, {folder.write("a", secret, 0600)}), "none");
  EXPECT_EQ(fault(Algorithm::hs256, {folder.write("b", secret, 0640)}), "none");
  EXPECT_EQ(fault(Algorithm::hs256, {folder.write("c", secret, 0644)}),
            "c can be read by anyone or written by its group; run: chmod 640 c");
  EXPECT_EQ(fault(Algorithm::hs256, {folder.write("d", secret.substr(1) + "\n")}),
            "auth.keys: d holds less than 32 bytes, too few for HS256");
  EXPECT_EQ(fault(Algorithm::hs256, {folder.write("e", std::string(100'000, 's'))}),
            "e is too large for a key");
  EXPECT_EQ(fault(Algorithm::hs256, {"k=" + (folder.path() / "none").string()}),
            "cannot open none: No such file or directory");
}

TEST(KeyFile, HTTP_3_BelongsToTheUserOrToRootAndIsClosedToOthers) {
  auto const fault = [](KeyKind kind, uid_t owner, unsigned mode) {
    struct stat info {};
    info.st_mode = S_IFREG | mode;
    info.st_uid = owner;
    return key_file_fault("k", kind, info, 1000);
  };
  for (auto const kind : {KeyKind::own_secret, KeyKind::secret, KeyKind::public_key}) {
    EXPECT_EQ(fault(kind, 1000, 0600), "");
    EXPECT_EQ(fault(kind, 1000, 0400), "");
    EXPECT_EQ(fault(kind, 0, 0600), "");
    EXPECT_EQ(fault(kind, 1001, 0600),
              "k belongs to user 1001, who could replace it; run as that user, or run: chown 1000 k");
  }
  EXPECT_EQ(fault(KeyKind::secret, 1000, 0640), "k can be read by others; run: chmod 600 k");
  EXPECT_EQ(fault(KeyKind::secret, 0, 0640), "");
  EXPECT_EQ(fault(KeyKind::secret, 0, 0644),
            "k can be read by anyone or written by its group; run: chmod 640 k");
  EXPECT_EQ(fault(KeyKind::own_secret, 0, 0640), "k can be read by others; run: chmod 600 k");
  EXPECT_EQ(fault(KeyKind::public_key, 1000, 0644), "");
  EXPECT_EQ(fault(KeyKind::public_key, 1000, 0664), "k can be replaced by others; run: chmod go-w k");
}

TEST_F(KeyRingTest, HTTP_3_SymbolicLinksAreRefused) {
  auto const link = folder.path() / "link";
  fs::create_symlink(folder.write("a", std::string(32, 's'), 0600), link);

  EXPECT_EQ(fault(Algorithm::hs256, {link.string()}),
            "link is a symbolic link; name the file itself, so that nobody else decides which one is read");
}

TEST_F(KeyRingTest, FinalLineBreakIsNoPartOfASecret) {
  auto const plain = KeyRing::load(Algorithm::hs256, {folder.write("a", std::string(32, 's'))});
  auto const edited = KeyRing::load(Algorithm::hs256, {folder.write("b", std::string(32, 's') + "\n")});

  EXPECT_EQ(signed_with(plain.value()), signed_with(edited.value()));
}

TEST_F(KeyRingTest, HTTP_3_KeysFitTheAlgorithm) {
  auto const rsa = folder.write("rsa", TestKeyPair{Algorithm::rs256}.public_pem(), 0644);
  auto const small = folder.write("small", TestKeyPair{Algorithm::rs256, 1024}.public_pem(), 0644);
  auto const curve = folder.write("curve", TestKeyPair{Algorithm::es256}.public_pem(), 0644);

  EXPECT_EQ(fault(Algorithm::rs256, {rsa}), "none");
  EXPECT_EQ(fault(Algorithm::es256, {curve}), "none");
  EXPECT_EQ(fault(Algorithm::rs256, {small}), "auth.keys: small is an RSA key of less than 2048 bits");
  EXPECT_EQ(fault(Algorithm::rs256, {curve}), "auth.keys: curve is not an RSA key, which RS256 needs");
  EXPECT_EQ(fault(Algorithm::es256, {rsa}), "auth.keys: rsa is not a P-256 key, which ES256 needs");
  // A public key as an HMAC secret would let anyone sign.
  EXPECT_EQ(fault(Algorithm::hs256, {folder.write("pem", TestKeyPair{Algorithm::es256}.public_pem())}),
            "auth.keys: pem holds a PEM key, but HS256 needs a secret; is auth.algorithm right?");
  EXPECT_EQ(fault(Algorithm::rs256, {folder.write("junk", "hello", 0644)}),
            "auth.keys: junk holds no public key in PEM form (\"-----BEGIN PUBLIC KEY-----\")");
  EXPECT_EQ(fault(Algorithm::rs256, {folder.write("open", "x", 0666)}),
            "open can be replaced by others; run: chmod go-w open");
}

TEST_F(KeyRingTest, NamesAreUnique) {
  auto const file = folder.write("a", std::string(32, 's'));

  EXPECT_EQ(fault(Algorithm::hs256, {"k=" + file, "k=" + file}), "auth.keys: two keys are called 'k'");
  EXPECT_EQ(fault(Algorithm::hs256, {file, file}),
            "auth.keys: only one key may have no name; write the others as KID=FILE");
  EXPECT_EQ(fault(Algorithm::hs256, {file, "k=" + file}), "none");
  EXPECT_EQ(fault(Algorithm::hs256, {}), "auth.keys names no key");
}

TEST_F(KeyRingTest, KeyWithoutANameServesWhatNoOtherDoes) {
  auto const ring = KeyRing::load(Algorithm::hs256, {"k=" + folder.write("a", std::string(32, 'a')),
                                                     folder.write("b", std::string(32, 'b'))});
  ASSERT_TRUE(ring) << ring.error().detail;

  EXPECT_EQ(ring->find("k"), &ring->signing_key());
  EXPECT_EQ(ring->find("other"), ring->find(std::nullopt));
  EXPECT_NE(ring->find("other"), ring->find("k"));
}

}  // namespace
}  // namespace runnel::base
