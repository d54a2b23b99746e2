import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

/*
 * The packages of `benchmarks/peers`, which has a package.json of its own so that nobody has to
 * install them who does not measure.
 */

export const requirePeer = createRequire(new URL('../peers/package.json', import.meta.url))

const manifest = requirePeer('./package.json') as {
  readonly dependencies: Readonly<Record<string, string>>
}

/** Their versions are fixed. */
export const peerVersion = (name: string): string => manifest.dependencies[name]!

/** False where a package could not be installed, or built. */
export const isInstalled = (name: string): boolean =>
  fs.existsSync(path.join(import.meta.dirname, '../peers/node_modules', name, 'package.json'))
