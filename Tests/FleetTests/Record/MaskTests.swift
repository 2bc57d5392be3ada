import Testing

@testable import Fleet

@Suite struct `a mask` {
  private let mask = Mask([Secret("hunter2-key"), Secret(#"a "b" <c>"#), Secret("")])

  @Test(arguments: [
    ("the key is hunter2-key.", "the key is •••."), (#"{"k":"a \"b\" <c>"}"#, #"{"k":"•••"}"#),
    ("/x?k=a%20%22b%22%20%3Cc%3E&y", "/x?k=•••&y"), ("cut off at hunter2…, after 1 s", "cut off at •••…, after 1 s"),
    ("hunt…", "•••…"), ("hun…", "hun…"), ("hunter2", "hunter2"), ("nothing… here…", "nothing… here…"),
  ]) func `takes a secret out of a text in whichever form it stands there`(_ row: (String, String)) {
    #expect(mask(row.0) == row.1)
  }
}
