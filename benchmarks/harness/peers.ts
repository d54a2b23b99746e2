import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

/*
 * Libraries that Daybook is compared with. `benchmarks/peers` has a package.json of its own, so they are
 * installed only where benchmarks run.
 */

export const requirePeer = createRequire(new URL('../peers/package.json', import.meta.url))

const manifest = requirePeer('./package.json') as {
  readonly dependencies: Readonly<Record<string, string>>
}

/** The version in package.json, which is exact. */
export const peerVersion = (name: string): string => manifest.dependencies[name]!

export const isInstalled = (name: string): boolean =>
  fs.existsSync(path.join(import.meta.dirname, '../peers/node_modules', name, 'package.json'))
