import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/*
 * A comment that starts with a relative clause has to be read twice. Write "Options of a call" for "What a call
 * does", and "True if it is open" for "Whether it is open".
 */

const root = fileURLToPath(new URL('../..', import.meta.url))

const CLAUSE = /^[ \t]*\/\*\*?[\s*]+(?:What|Whether|Those|That)\b.*/gm

const clausesIn = (text: string): readonly string[] => text.match(CLAUSE) ?? []

it.each([
  ['/** What a call does. */', 1],
  ['  /**\n   * Whether it is open.\n   */', 1],
  ['/* Those of the index. */', 1],
  ['/** True if it is open. What it reads is not changed. */', 0],
  ["const text = 'What a call does'", 0],
])('finds %j', (text, count) => {
  expect(clausesIn(text)).toHaveLength(count)
})

it('comments start with a noun or a verb, not with What, Whether, Those or That', () => {
  const files = ['src', 'adapters', 'examples'].flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => path.join(folder, file)),
  )
  expect(files.length).toBeGreaterThan(400)
  const found = files.flatMap((file) =>
    clausesIn(fs.readFileSync(path.join(root, file), 'utf8')).map((line) => `${file}: ${line}`),
  )
  expect(found).toEqual([])
})
