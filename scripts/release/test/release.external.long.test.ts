// It makes a release as docs/install.md says, and examines all that is in it. A release takes three quarters of a minute of the
// processor's time, so there is one for all tests.
import { describeWithDisks } from '../../../packages/testing/src/machine.ts'
import { describeArmExecutable } from '../../program/test/describe-arm-executable.ts'
import { describeBillsOfMaterials } from './describe-bills-of-materials.ts'
import { describeDebianPackage } from './describe-debian-package.ts'
import { describeInstallPage } from './describe-install-page.ts'
import { describeReleaseFiles } from './describe-release-files.ts'
import { describeReleasedTarballs } from './describe-released-tarballs.ts'
import { useRelease } from './use-release.ts'

// The commands of the page change the machine, so they run on a copy of it.
describeWithDisks('A release', () => {
  const release = useRelease()
  describeInstallPage(release)
  describeReleaseFiles(release)
  describeBillsOfMaterials(release)
  describeReleasedTarballs(release)
  describeDebianPackage(release)
  describeArmExecutable(release)
})
