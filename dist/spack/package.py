# A recipe for Spack: put this folder, named stagger, into the packages/ of a repository of yours.
# It keeps to what `spack style` asks of Python (flake8, black); spack itself has not read it.
#
#     spack install stagger ^mpich
#     spack load stagger && stagger run mpiexec -n 4 ./app
from spack.package import *


class Stagger(MakefilePackage):
    """Shows where MPI programs lose time to process skew, and runs their collectives by
    algorithms that tolerate it: a library to preload under unchanged MPICH programs, and the
    commands that read what it recorded."""

    homepage = "https://stagger.invalid"
    git = "https://stagger.invalid/stagger.git"

    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("rdma", default=True, description="Collectives between machines by RDMA")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("mpich@4:", type=("build", "run"))
    depends_on("otf2@3:", type=("build", "link", "run"))
    depends_on("elfutils", type=("build", "link", "run"))
    depends_on("jansson", type=("build", "link", "run"))
    depends_on("libunwind", type=("build", "link", "run"))
    depends_on("uthash", type=("build", "link"))
    depends_on("rdma-core", when="+rdma", type=("build", "link", "run"))

    # It is for ELF, and for the processors that its kernels know.
    requires("platform=linux")

    def build(self, spec, prefix):
        make(*self.arguments())

    def install(self, spec, prefix):
        make(*self.arguments(), f"PREFIX={prefix}", "install")

    def arguments(self):
        arguments = ["V=1", "WERROR=0"]
        if self.spec.satisfies("~rdma"):
            arguments.append("HAVE_RDMA=")
        return arguments

    def setup_run_environment(self, env):
        env.prepend_path("PKG_CONFIG_PATH", self.prefix.share.pkgconfig)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(self.prefix.bin.stagger)("--version")
