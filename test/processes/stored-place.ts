import type { EventStore } from 'daybook'
import { postgresDatabase } from '../support/database.js'
import { openStore } from '../support/open-store.js'
import { tempDir } from '../support/temp.js'

/** An empty log that several processes open. */
export interface StoredPlace {
  /** Passed to the processes: the URL of Postgres or the name of the file. */
  readonly location: string
  openStore(): EventStore
}

const placeOf = (location: string): StoredPlace => ({
  location,
  openStore: () => openStore(location),
})

type UsePlace = (place: StoredPlace) => Promise<void>

export async function onPostgres(use: UsePlace): Promise<void> {
  const { url, remove } = await postgresDatabase()
  try {
    await use(placeOf(url))
  } finally {
    await remove()
  }
}

export async function onSqlite(use: UsePlace): Promise<void> {
  const temp = tempDir()
  try {
    await use(placeOf(temp.file('audit.db')))
  } finally {
    temp.remove()
  }
}
