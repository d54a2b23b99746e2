import { readFileSync } from 'node:fs'

/* Runs before everything else, so that an old Node gets one message instead of the first error that it causes. */

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const oldest = manifest.engines.node.replace('>=', '')
const [major, minor] = oldest.split('.').map(Number)
const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number)

if (ownMajor < major || (ownMajor === major && ownMinor < minor)) {
  console.error(`the demo needs Node ${oldest} or newer; this is Node ${process.versions.node}`)
  process.exitCode = 1
}
