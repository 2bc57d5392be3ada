import Wire

extension CrashReport {
  // MARK: A crash

  var crashBody: [String: JSON] {
    [
      "bundleInfo": [
        "CFBundleIdentifier": .string(app.bundle), "CFBundleShortVersionString": .string(app.version),
        "CFBundleVersion": .string(app.build),
      ],
      "captureTime": .string(at.stamp),
      "coalitionName": .string(app.bundle),
      "cpuType": "ARM-64",
      "exception": exception,
      "faultingThread": .integer(Int64(faultingThread)),
      "incident": .string(incident),
      "modelCode": .string(system.model),
      "osVersion": [
        "build": .string(system.build), "isEmbedded": true, "releaseType": "User",
        "train": .string("iPhone OS \(system.ios)"),
      ],
      "parentPid": 1, "parentProc": "launchd",
      "pid": .integer(Int64(pid)),
      "procLaunch": .string(started.stamp),
      "procName": .string(app.executable),
      "procPath": .string(app.executablePath),
      "procRole": "Foreground",
      "termination": termination,
      "threads": threads,
      "usedImages": images,
      "userID": 501, "version": 2,
    ]
  }

  /// The signal that the process ends with.
  var signal: UInt8 {
    switch kind {
    case .segfault: 11
    case .abort: 6
    case .trap: 5
    case .watchdog, .memory: 9
    }
  }

  private var exception: JSON {
    switch kind {
    case .segfault:
      [
        "codes": "0x0000000000000001, 0x0000000000000010", "rawCodes": [1, 16], "signal": "SIGSEGV",
        "subtype": "KERN_INVALID_ADDRESS at 0x0000000000000010", "type": "EXC_BAD_ACCESS",
      ]
    case .abort:
      [
        "codes": "0x0000000000000000, 0x0000000000000000", "rawCodes": [0, 0], "signal": "SIGABRT", "type": "EXC_CRASH",
      ]
    case .trap:
      [
        "codes": "0x0000000000000001, 0x00000001a2b3c4d8", "rawCodes": [1, 7_024_657_624], "signal": "SIGTRAP",
        "type": "EXC_BREAKPOINT",
      ]
    case .watchdog, .memory:
      [
        "codes": "0x0000000000000000, 0x0000000000000000", "rawCodes": [0, 0], "signal": "SIGKILL", "type": "EXC_CRASH",
      ]
    }
  }

  private var termination: JSON {
    switch kind {
    case .segfault: ended(by: "exc handler", 11, "Segmentation fault: 11")
    case .abort: ended(by: app.executable, 6, "Abort trap: 6")
    case .trap: ended(by: "exc handler", 5, "Trace/BPT trap: 5")
    case .watchdog, .memory:
      [
        "code": 2_343_432_205, "flags": 6, "namespace": "FRONTBOARD",
        "reasons": [
          .string(
            "scene-create watchdog transgression: app<\(app.bundle)>:\(pid) exhausted real (wall clock) time allowance of "
              + "19.97 seconds")
        ],
      ]
    }
  }

  private func ended(by program: String, _ code: Int64, _ text: String) -> JSON {
    [
      "byPid": .integer(Int64(pid)), "byProc": .string(program), "code": .integer(code), "flags": 0,
      "indicator": .string(text), "namespace": "SIGNAL",
    ]
  }

  // MARK: Threads

  /// The camera's own thread fails in an abort, otherwise the first one does.
  private var faultingThread: Int { kind == .abort ? 1 : 0 }

  private var threads: JSON {
    let library = frame("mach_msg2_trap", 2, 0x1BC8)
    let main = kind == .abort ? [library] : topFrames
    let camera = kind == .abort ? topFrames : [library]
    return [
      thread(main, queue: "com.apple.main-thread", id: 61_001, isFaulting: faultingThread == 0),
      thread(camera, queue: "camera", id: 61_014, isFaulting: faultingThread == 1),
    ]
  }

  private func thread(_ frames: [JSON], queue: String, id: Int64, isFaulting: Bool) -> JSON {
    var thread: [String: JSON] = ["frames": .array(frames), "id": .integer(id), "queue": .string(queue)]
    if isFaulting {
      thread["threadState"] = registers
      thread["triggered"] = true
    }
    return .object(thread)
  }

  /// Made up, like the addresses: nobody ran on a processor here.
  private var registers: JSON {
    func value(_ number: Int64) -> JSON { ["value": .integer(number)] }
    return [
      "cpsr": value(0x6000_1000), "esr": value(0x9200_0006), "far": value(0x10), "flavor": "ARM_THREAD_STATE64",
      "fp": value(0x1_6F9A_0E20), "lr": value(0x1_0041_4F20), "pc": value(0x1_0041_9A3C), "sp": value(0x1_6F9A_0DE0),
      "x": .array((0..<29).map { value(Int64($0) * 0x1000) }),
    ]
  }

  private var topFrames: [JSON] {
    let own = [frame("KioskModel.refresh()", 0, 0x1_4F20), frame("main", 0, 0x7C44)]
    switch kind {
    case .segfault: return [frame("CameraSession.start(for:)", 0, 0x1_9A3C)] + own
    case .abort:
      return [
        frame("__pthread_kill", 2, 0x9160), frame("abort", 2, 0x6_7B40), frame("CameraQueue.fail(_:)", 0, 0x2_10D8),
      ]
    case .trap: return [frame("_assertionFailure(_:_:file:line:flags:)", 1, 0x3_A178)] + own
    case .watchdog, .memory: return [frame("semaphore_wait_trap", 2, 0x0AF4)] + own
    }
  }

  /// - Parameters:
  ///   - image: its place in `usedImages`; those of the system always have names.
  ///   - offset: from the image's start.
  private func frame(_ symbol: String, _ image: Int64, _ offset: Int64) -> JSON {
    var frame: [String: JSON] = ["imageIndex": .integer(image), "imageOffset": .integer(offset)]
    if hasSymbols || image > 0 {
      frame["symbol"] = .string(symbol)
      frame["symbolLocation"] = 36
    }
    return .object(frame)
  }

  private var images: JSON {
    let images: [(name: String, path: String, base: Int64)] = [
      (app.executable, app.executablePath, 0x1_0040_0000),
      ("libswiftCore.dylib", "/usr/lib/swift/libswiftCore.dylib", 0x1_8A00_0000),
      ("libsystem_kernel.dylib", "/usr/lib/system/libsystem_kernel.dylib", 0x1_C000_0000),
    ]
    return .array(
      images.map { image in
        [
          "arch": "arm64", "base": .integer(image.base), "name": .string(image.name), "path": .string(image.path),
          "size": 262_144, "source": "P",
          "uuid": .string(InstalledApp.folderName(for: "image \(image.name)").lowercased()),
        ]
      })
  }

  // MARK: Memory

  var memoryBody: [String: JSON] {
    [
      "build": .string("iPhone OS \(system.ios) (\(system.build))"), "date": .string(at.stamp),
      "incident": .string(incident), "largestProcess": .string(app.executable),
      "memoryStatus": [
        "compressorSize": 21_042, "memoryPages": ["active": 41_902, "free": 3_310, "wired": 38_511], "pageSize": 16_384,
      ],
      "processes": [
        [
          "name": .string(app.executable), "pid": .integer(Int64(pid)), "reason": "per-process-limit",
          "rpages": 132_044, "states": ["frontmost"],
          "uuid": .string(InstalledApp.folderName(for: "image \(app.executable)").lowercased()),
        ],
        ["name": "SpringBoard", "pid": 34, "rpages": 9_120, "states": ["active"]],
      ],
      "product": .string(system.model), "timeDelta": 4, "version": 2,
    ]
  }
}
