import Database from 'better-sqlite3'
import { sqliteStore } from 'daybook/sqlite'
import { expect, it, onTestFinished, vi } from 'vitest'
import { done, parser, startRecorded } from '../../http/recorded.js'
import { reportedLosses } from '../../support/reported-losses.js'
import { tempDir } from '../../support/temp.js'
import { takeWarnings } from '../../support/warnings.js'

const REQUESTS = 20
/** The type of the events of the requests. */
const lost = 'api:unmatched:create'

/** The store of a new file, and its own connection. */
function openStore() {
  const temp = tempDir()
  onTestFinished(temp.remove)
  const pragma = vi.spyOn(Database.prototype, 'pragma')
  const store = sqliteStore({ filename: temp.file('audit.db') })
  const connection = pragma.mock.contexts[0] as Database.Database
  pragma.mockRestore()
  return { store, connection }
}

it('requests that are missing in the log because of a full disk are reported in it and by a process warning', async () => {
  const warnings = takeWarnings()
  const { store, connection } = openStore()
  const app = await startRecorded([parser, done], { store })
  onTestFinished(() => app.close())
  const [limit] = connection.pragma('max_page_count', { simple: false }) as {
    max_page_count: number
  }[]
  const post = (): Promise<unknown> => app.postJson('/orders', { note: 'x'.repeat(10_000) })
  const pages = connection.pragma('page_count', { simple: true }) as number
  connection.pragma(`max_page_count = ${pages}`)
  for (let i = 0; i < REQUESTS; i++) expect(await post()).toMatchObject({ status: 204 })
  expect(await app.events()).not.toContainEqual(expect.objectContaining({ type: lost }))
  expect(warnings).toEqual([expect.stringMatching(/is lost: .*database or disk is full/)])
  connection.pragma(`max_page_count = ${limit!.max_page_count}`)
  await post()
  // There may be several gap events, because a small one can still fit into the full file.
  await expect
    .poll(async () => [...reportedLosses(await app.events()).gaps])
    .toEqual([[`${lost} store_failed`, REQUESTS]])
})
