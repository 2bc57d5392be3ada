import Glibc

/// The three descriptors that a process is started with, or should be.
enum StandardDescriptors {
  /// Fills those that the caller has closed, so that no socket of ours takes their number and receives what is printed.
  ///
  /// A closed standard output becomes one that can only be read: what is printed must fail, not vanish.
  static func secure() {
    for fd in STDIN_FILENO...STDERR_FILENO where fcntl(fd, F_GETFD) < 0 {
      // The lowest free number is this one.
      _ = open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR)
    }
  }
}
