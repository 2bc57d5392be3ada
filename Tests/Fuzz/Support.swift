import Glibc

/// Ends the fuzzer with the input that broke a promise.
func fuzzFailure(_ promise: StaticString) -> Never {
  fputs("broken promise: \(promise)\n", stderr)
  abort()
}

/// Any bytes are read or refused; what was read survives both forms.
func fuzzPlist(_ bytes: [UInt8]) {
  guard let value = try? Plist(parsing: bytes) else { return }
  guard (try? Plist(parsing: value.binary)) != nil else { fuzzFailure("binary form") }
}
