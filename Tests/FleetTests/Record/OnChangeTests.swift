import Testing
import Transport
import Wire

@testable import Fleet

@Suite struct `the command of on-change` {
  private static let environment = ["PATH": "/usr/bin:/bin"]
  private let said = Guarded<[String]>([])

  private func onChange(
    _ script: String, limit: Duration = .seconds(20), capacity: Int = 256, mask: Mask = Mask([])
  ) -> OnChange {
    OnChange(
      ["sh", "-c", script], environment: Self.environment, masking: mask, limit: limit, capacity: capacity
    ) { [said] line in said.with { $0.append(line) } }
  }

  private func lines(_ path: String) -> [String] {
    (Scratch.read(path) ?? "").split(separator: "\n").map(String.init)
  }

  @Test func `gets each row as JSON on its standard input, one at a time and in order`() async throws {
    let folder = try Scratch()
    let file = "\(folder.path)/rows"
    let command = onChange("mkdir \(folder.path)/busy && cat >> \(file) && rmdir \(folder.path)/busy")
    let rows = (1...5).map { TestEntry.row($0) }

    for row in rows { command.tell(row) }

    #expect(await eventually { lines(file).count == 5 })
    #expect(lines(file) == rows.map(\.json.line))
    #expect(said.with { $0 }.isEmpty)
  }

  @Test func `takes a row that is longer than a pipe, and may leave it unread`() async throws {
    let folder = try Scratch()
    let file = "\(folder.path)/count"
    var row = TestEntry.row(1)
    row.detail = String(repeating: "long ", count: 200_000)
    let (reads, ignores) = (onChange("wc -c > \(file)"), onChange("exit 0"))

    reads.tell(row)
    ignores.tell(row)

    #expect(await eventually { lines(file).first == "\(row.json.line.utf8.count + 1)" })
    #expect(ignores.stop(by: .after(.seconds(20))))
    #expect(said.with { $0 }.isEmpty)
  }

  @Test func `never keeps anybody waiting, and of too many rows the oldest are dropped and that is said`() async throws
  {
    let folder = try Scratch()
    let (file, gate) = ("\(folder.path)/rows", "\(folder.path)/gate")
    let command = onChange(
      "touch \(folder.path)/began; while [ ! -e \(gate) ]; do sleep 0.01; done; cat >> \(file)", capacity: 2)
    command.tell(TestEntry.row(1))
    #expect(await eventually { Scratch.names(in: folder.path).contains("began") })

    for seq in 2...6 { command.tell(TestEntry.row(seq)) }
    try Scratch.write("", to: gate)

    #expect(await eventually { lines(file).count == 3 })
    #expect(lines(file) == [1, 5, 6].map { TestEntry.row($0).json.line })
    #expect(said.with { $0 }.count == 1)
    #expect(said.with { $0 }.first?.hasPrefix("3 rows were not given") == true)
  }

  @Test func `is ended at its deadline, and the next row follows`() async throws {
    let folder = try Scratch()
    let file = "\(folder.path)/rows"
    let command = onChange("grep -q '\"seq\":1' && sleep 60; echo more >> \(file)", limit: .milliseconds(300))

    command.tell(TestEntry.row(1))
    command.tell(TestEntry.row(2))

    #expect(await eventually { lines(file) == ["more"] })
    #expect(said.with { $0 }.first?.contains("longer than 300 ms") == true)
  }

  @Test func `says a failure once while it lasts, and that it works again`() async throws {
    let folder = try Scratch()
    let (count, good) = ("\(folder.path)/count", "\(folder.path)/good")
    let command = onChange("echo x >> \(count); [ -e \(good) ] || { echo no such host; exit 7; }")
    for seq in 1...3 { command.tell(TestEntry.row(seq)) }
    #expect(await eventually { lines(count).count == 3 })
    try Scratch.write("", to: good)

    command.tell(TestEntry.row(4))

    #expect(await eventually { said.with { $0.last?.hasSuffix("works again.") == true } })
    let words = said.with { $0 }
    #expect(words.count == 2)
    #expect(words.first?.contains("ends with 7: no such host") == true)
  }

  @Test func `that can't be started is said`() async {
    let command = OnChange(["no-such-program-anywhere"], environment: Self.environment) { [said] line in
      said.with { $0.append(line) }
    }

    command.tell(TestEntry.row(1))

    #expect(await eventually { said.with { $0.first?.contains("No such file") == true } })
  }

  @Test func `gets no secrets`() async throws {
    let folder = try Scratch()
    let file = "\(folder.path)/rows"
    var row = TestEntry.row(1)
    row.detail = "said hunter2-key"
    let command = onChange("cat > \(file)", mask: Mask([Secret("hunter2-key")]))

    command.tell(row)

    #expect(await eventually { lines(file).first?.contains("said •••") == true })
  }

  @Test func `ends with what it had started when it is stopped`() async throws {
    let folder = try Scratch()
    let command = onChange("touch \(folder.path)/began; sleep 60")
    command.tell(TestEntry.row(1))
    #expect(await eventually { Scratch.names(in: folder.path).contains("began") })

    #expect(command.stop(by: .after(.seconds(10))))
    #expect(said.with { $0 }.isEmpty)
  }
}
