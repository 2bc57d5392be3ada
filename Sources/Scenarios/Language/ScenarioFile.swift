import Fleet
import Transport

/// Scenario files: found, read and checked.
public enum ScenarioFile {
  /// Reads one scenario file.
  ///
  /// - Throws: everything that is wrong in it, with line and column.
  public static func parse(path: String, files: Files = .host) throws(Problems) -> Scenario {
    let bytes: [UInt8]
    do {
      bytes = try files.read(path, YAMLDocument.byteLimit)
    } catch {
      throw Problems([error])
    }
    return try parse(bytes, file: path)
  }

  /// - Parameter file: the name that problems and reports carry.
  public static func parse(_ bytes: [UInt8], file: String) throws(Problems) -> Scenario {
    let root = try YAMLDocument.parse(bytes, file: file)
    let reader = ScenarioReader(file: file)
    let scenario = reader.scenario(root, hash: Digest.sha256(bytes))
    try reader.reading.finish()
    guard let scenario else {
      throw Problems([Problem(file: file, line: root.line, column: root.column, sentence: "is no scenario")])
    }
    return scenario
  }

  /// Reads files, and folders with all the scenario files in them.
  ///
  /// - Throws: everything that is wrong in any of them; then nothing may be run.
  public static func load(_ paths: [String], files: Files = .host) throws(Problems) -> [Scenario] {
    var scenarios: [Scenario] = []
    var problems: [Problem] = []
    var found: [String] = []
    for path in paths {
      do {
        found += try ScenarioFolder.files(at: path)
      } catch {
        problems.append(error)
      }
    }
    // A file that is named twice is one file.
    var seen: Set<String> = []
    for path in found where seen.insert(path).inserted {
      do {
        scenarios.append(try parse(path: path, files: files))
      } catch {
        problems += error.list
      }
    }
    guard problems.isEmpty else { throw Problems(problems) }
    return scenarios
  }
}
