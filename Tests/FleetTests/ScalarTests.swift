import Fleet
import Testing
import Wire

@Suite struct `a duration` {
  @Test(arguments: [
    ("10s", Duration.seconds(10)), ("1.5s", .milliseconds(1_500)), ("200ms", .milliseconds(200)),
    ("20m", .seconds(1_200)),
    ("2h", .seconds(7_200)), ("400d", .seconds(34_560_000)), ("0s", .zero), ("0.5ms", .microseconds(500)),
  ])
  func `is a number with its unit`(_ text: String, _ duration: Duration) {
    #expect(Duration(text: text) == duration)
  }

  @Test(arguments: [
    "", "s", "10", "10 s", "-1s", "+1s", "1e3s", "1.s", ".5s", "1.2.3s", "10S", "10sec", "1m30s", "0x1s", "10001d",
    "99999999999999d", "1.0000000001s", "١s",
  ])
  func `is refused in any other form`(_ text: String) {
    #expect(Duration(text: text) == nil)
  }

  @Test(arguments: [
    (Duration.milliseconds(420), "420 ms"), (.milliseconds(1_250), "1.25 s"), (.seconds(12), "12 s"),
    (.seconds(300), "5 min"), (.seconds(7_200), "2 h"),
    (.seconds(34_560_000), "400 days"), (.milliseconds(12_340), "12.3 s"), (.zero, "0 s"),
  ])
  func `is shown in the unit that people use`(_ duration: Duration, _ text: String) {
    #expect(duration.shown == text)
  }
}

@Suite struct `a JSON value in a YAML file` {
  @Test(arguments: [
    ("true", JSON.boolean(true)), ("TRUE", true), ("yes", "yes"), ("on", "on"), ("null", nil), ("~", nil), ("", nil),
    ("42", 42), ("-7", -7), ("+7", 7), ("010", 10), ("0x1F", 31), ("0o17", 15), ("1e3", 1_000.0), ("1.5", 1.5),
    (".5", 0.5), ("1.", 1.0), ("1.5.2", "1.5.2"), ("e3", "e3"), ("0x", "0x"), ("-0x1", "-0x1"), (".", "."),
    ("'42'", "42"), ("\"true\"", "true"), ("2026-11-30", "2026-11-30"), ("99999999999999999999", 1e20),
  ])
  func `follows the core schema, and quoted is text`(_ text: String, _ value: JSON) throws {
    let node = try #require(try parsed("a: \(text)\n")["a"])
    let reading = Reading(file: "f")

    #expect(reading.json(node) == value)
    #expect(reading.problems.isEmpty)
  }

  @Test func `may be a list or an object`() throws {
    let node = try #require(try parsed("a: [1, {b: [null, 'x']}]\n")["a"])

    #expect(Reading(file: "f").json(node) == [1, ["b": [nil, "x"]]])
  }
}

@Suite struct `a calendar day` {
  @Test(arguments: ["2026-12-20", "2024-02-29", "0001-01-01"])
  func `is read as it is written`(_ text: String) throws {
    #expect(CalendarDay(text)?.description == text)
  }

  @Test(arguments: ["2026-2-1", "2026-02-29", "2026-13-01", "2026-00-10", "20261220", "2026-12-32", "2026-12-2O", ""])
  func `is refused where there is no such day`(_ text: String) {
    #expect(CalendarDay(text) == nil)
  }

  @Test func `comes before a later one`() throws {
    let days = try ["2026-12-20", "2026-12-21", "2027-01-01"].map { try #require(CalendarDay($0)) }

    #expect(days.sorted() == days)
    #expect(days[0] < days[2])
  }
}

@Suite struct `the wall clock` {
  @Test(arguments: [
    (Duration.zero, "1970-01-01T00:00:00.000Z"),
    (.seconds(1_796_113_800) + .milliseconds(7), "2026-12-01T08:30:00.007Z"),
  ])
  func `is written in UTC to the millisecond`(_ moment: Duration, _ text: String) {
    #expect(WallClock.rfc3339(moment) == text)
  }
}

@Suite struct `a text with names in braces` {
  @Test(arguments: [
    ("Unlock {name}", "Unlock hall"), ("{udid}{name}", "Uhall"), ("{other} {name", "{other} {name"),
    ("{\"a\":1}", "{\"a\":1}"), ("{{name}}", "{hall}"), ("", ""), ("{}", "{}"),
  ])
  func `is filled in where a name has a value`(_ text: String, _ filled: String) {
    #expect(Placeholders.fill(text, ["name": "hall", "udid": "U"]) == filled)
  }

  @Test func `is not filled in twice`() {
    #expect(Placeholders.fill("{a}", ["a": "{b}", "b": "no"]) == "{b}")
  }
}

@Suite struct `a secret` {
  @Test func `is not shown when it is printed`() {
    let secret = Secret("hunter2")
    var dumped = ""
    dump(secret, to: &dumped)

    #expect("\(secret) \(String(reflecting: secret)) \(dumped)".contains("hunter2") == false)
  }

  @Test func `is taken out of texts, the longer one first`() {
    let mask = Mask([Secret("abc"), Secret("abcdef"), Secret("")])

    #expect(mask("x abcdef y abc z") == "x ••• y ••• z")
  }
}
