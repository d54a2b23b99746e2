import fs from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { createSqliteStore } from '../../adapters/sqlite/sqlite-store.js'
import { FLIP_TUNING, type FlipTarget, offsets, type Page, recordFlipBase } from './flips.js'
import { tempFolder } from './temp.js'
import { words } from './words.js'

const PAGE = 4096

const CHECKED: ReadonlySet<string> = new Set([
  ...words('daybook_events daybook_chunks daybook_chunk_keys daybook_segment_times'),
  ...words('daybook_segments daybook_dictionaries daybook_dictionary_copies'),
])

/** Flips bits of copies of an SQLite file. */
export async function sqliteFlips(): Promise<FlipTarget> {
  const folder = fs.mkdtempSync(path.join(tempFolder(), 'daybook-flips-'))
  const [base, copy] = [path.join(folder, 'base.db'), path.join(folder, 'copy.db')]
  const { store, sealer } = createSqliteStore({ filename: base }, { tuning: FLIP_TUNING })
  await recordFlipBase(store, sealer)
  return {
    pages: pagesOf(base),
    isChecked: (table) => CHECKED.has(table),
    async open(place) {
      for (const suffix of ['-wal', '-shm']) fs.rmSync(copy + suffix, { force: true })
      const bytes = fs.readFileSync(base)
      if (place) bytes[(place.page - 1) * PAGE + place.offset]! ^= 1 << place.bit
      fs.writeFileSync(copy, bytes)
      const options = { tuning: FLIP_TUNING, checkMs: 600_000 }
      return createSqliteStore({ filename: copy }, options).store
    },
    close: async () => fs.rmSync(folder, { recursive: true }),
  }
}

function pagesOf(filename: string): ReadonlyMap<string, readonly Page[]> {
  const bytes = fs.readFileSync(filename)
  const database = new Database(filename, { readonly: true })
  const rows = database.prepare('SELECT name, pageno AS number, pagetype AS type FROM dbstat').all()
  database.close()
  const pages = new Map<string, Page[]>()
  for (const { name, number, type } of rows as readonly {
    readonly name: string
    readonly number: number
    readonly type: string
  }[]) {
    const page = bytes.subarray((number - 1) * PAGE, number * PAGE)
    const used = type === 'overflow' ? offsets(0, PAGE) : usedBytes(page, number === 1 ? 100 : 0)
    pages.set(name, [...(pages.get(name) ?? []), { number, used }])
  }
  return pages
}

/** The header, the pointers and the cells of a page: https://www.sqlite.org/fileformat2.html#b_tree_pages */
function usedBytes(page: Buffer, start: number): readonly number[] {
  const isLeaf = page[start]! >= 10
  const pointers = start + (isLeaf ? 8 : 12)
  const cells = page.readUInt16BE(start + 3)
  const content = page.readUInt16BE(start + 5)
  return [...offsets(0, pointers + 2 * cells), ...offsets(content, PAGE)]
}
