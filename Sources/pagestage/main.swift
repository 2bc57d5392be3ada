import Glibc

exit(PageStage.run())
