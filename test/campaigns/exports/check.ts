import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import { fromParquet } from 'daybook/parquet'
import type { ExportName } from './figures.js'

/** The content of a file. All kinds of exports of the same events have the same content. */
export interface Content {
  readonly events: number
  /** Digest of ids and attributes, in their order. */
  readonly digest: string
}

interface Written {
  readonly id: string
  readonly attributes: unknown
}

async function* lineEvents(file: string, isCompressed: boolean): AsyncGenerator<Written> {
  const bytes = createReadStream(file)
  const input = isCompressed ? bytes.pipe(createGunzip()) : bytes
  for await (const line of createInterface({ input })) yield JSON.parse(line) as Written
}

async function* parquetEvents(file: string): AsyncGenerator<Written> {
  for await (const page of fromParquet(file)) yield* page
}

const add = (hash: Hash, { id, attributes }: Written): Hash =>
  hash.update(id).update(JSON.stringify(attributes))

/** Reads a file that an export has written. */
export async function contentOf(name: ExportName, file: string): Promise<Content> {
  const hash = createHash('sha256')
  let events = 0
  const written = name === 'parquet' ? parquetEvents(file) : lineEvents(file, name === 'ndjson.gz')
  for await (const event of written) {
    add(hash, event)
    events++
  }
  return { events, digest: hash.digest('hex') }
}
