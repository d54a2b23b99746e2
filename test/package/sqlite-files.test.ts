import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { words } from '../support/words.js'

/*
 * If a process closes a descriptor of a database or `-shm`, SQLite loses its locks on that file. So the SQLite store
 * may open only files that it creates, the `-wal`, which has no locks, and the folder.
 */

const root = fileURLToPath(new URL('../../adapters/sqlite', import.meta.url))

/** Functions that open no file. */
const HARMLESS = [
  ...words('accessSync constants existsSync lstatSync mkdirSync readdir readlinkSync'),
  ...words('realpathSync stat statfs statSync statfsSync'),
]
/** Functions that create a file in `connection/file.ts`, or work on its descriptor. */
const CREATING = ['openSync', 'fchmodSync', 'closeSync']
/** Functions that work on the descriptor of a `-wal`. */
const ON_WAL = ['closeSync', 'fdatasync', 'fstatSync', 'promises', 'readSync']
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  'connection/file.ts': CREATING,
  'connection/checkpointer.ts': ON_WAL,
  'connection/wal-sync.ts': ON_WAL,
}

const files = fs
  .readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, text: fs.readFileSync(path.join(root, name), 'utf8') }))

it('the SQLite store opens no existing file by node:fs', () => {
  const importing = files.filter(({ text }) => /['"](?:node:)?fs(?:\/promises)?['"]/.test(text))
  expect(importing.map(({ name }) => name).toSorted()).toEqual([
    ...words(
      'checkups.ts connection/checkpointer.ts connection/file.ts connection/host-handle.ts connection/library.ts connection/wal-sync.ts health.ts sqlite-logs.ts',
    ),
  ])
  for (const { name, text } of importing) {
    expect(text, name).toMatch(/^import fs from 'node:fs(?:\/promises)?'$/m)
    const allowed = [...HARMLESS, ...(OTHERS[name] ?? [])]
    const used = [...text.matchAll(/\bfs\.(\w+)/g)].map(([, member]) => member)
    const named = [...text.matchAll(/^import \{ (.*) \} from 'node:fs(?:\/promises)?'$/gm)]
    const imported = named.flatMap(([, members]) => members!.split(', '))
    expect(allowed, name).toEqual(expect.arrayContaining([...used, ...imported]))
  }
})

it('a file is only opened to create it, or if it is a -wal', () => {
  const opened = files.flatMap(({ text }) => text.match(/openSync\(.*/g) ?? [])
  expect(opened).toEqual([
    expect.stringContaining(`, 'wx', mode)`),
    expect.stringContaining('openSync(walOf(filename), '),
  ])
  const others = files.flatMap(({ text }) => text.match(/fs\.promises\..*/g) ?? [])
  expect(others).toEqual(["fs.promises.open(folder, 'r')"])
})
