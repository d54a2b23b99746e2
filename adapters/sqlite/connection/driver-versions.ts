import { isAtLeast, type Release } from '../../../src/store/node-version.js'

/** From this release on, `node:sqlite` has all that the store uses. */
const NODE_SQLITE: Release = [24, 0]

export const hasNodeSqlite = (nodeVersion: string): boolean => isAtLeast(nodeVersion, NODE_SQLITE)

interface BadPair {
  /** The major version of better-sqlite3. */
  readonly driver: number
  /** Ranges of Node, from the first release to before the second. */
  readonly nodes: readonly (readonly [from: Release, before: Release])[]
  readonly effect: string
  readonly remedy: string
}

const NEWEST: Release = [Infinity, 0]

/** Versions that crash the process when they meet. No `catch` can prevent that. */
const BAD_PAIRS: readonly BadPair[] = [
  // Version 13 calls functions of Node-API 10 without checking that Node has them:
  // https://nodejs.org/api/n-api.html#node-api-version-matrix
  {
    driver: 13,
    nodes: [
      [
        [0, 0],
        [22, 14],
      ],
      [
        [23, 0],
        [23, 6],
      ],
    ],
    effect: 'ends the process with a segmentation fault',
    remedy: 'install version 12 (npm install better-sqlite3@12), or use Node 22.14, 23.6 or newer',
  },
  {
    driver: 12,
    nodes: [[[24, 19], NEWEST]],
    effect: 'aborts the process when a statement is collected',
    remedy: `install version 13 (npm install better-sqlite3@13), or use the driver that Node includes: { driver: 'node:sqlite' }`,
  },
]

/** Says why this version of better-sqlite3 must not be loaded in this version of Node; `undefined` if it may. */
export function badPair(nodeVersion: string, driverVersion: string): string | undefined {
  const bad = BAD_PAIRS.find(
    ({ driver, nodes }) =>
      Number.parseInt(driverVersion, 10) === driver &&
      nodes.some(
        ([from, before]) => isAtLeast(nodeVersion, from) && !isAtLeast(nodeVersion, before),
      ),
  )
  return (
    bad &&
    `better-sqlite3 ${driverVersion} ${bad.effect} in Node ${nodeVersion}, so it is not loaded: ${bad.remedy}`
  )
}
