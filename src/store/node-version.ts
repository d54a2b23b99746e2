import { AuditLogError } from '../errors.js'

/** A release of Node or of a package: major, minor. */
export type Release = readonly [major: number, minor: number]

/** The oldest Node that Daybook runs on; `engines` in `package.json` says the same. */
const OLDEST_NODE: Release = [20, 19]

/** Compares a version such as `24.19.0` or `25.0.0-nightly` with a release. */
export function isAtLeast(version: string, [major, minor]: Release): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return ownMajor > major || (ownMajor === major && ownMinor >= minor)
}

/** Throws `MISSING_DEPENDENCY` if the version of Node is older than Daybook needs. */
export function requireNode(version = process.versions.node): void {
  if (isAtLeast(version, OLDEST_NODE)) return
  throw new AuditLogError(
    'MISSING_DEPENDENCY',
    `Daybook needs Node ${OLDEST_NODE.join('.')} or newer; this is Node ${version}`,
  )
}
