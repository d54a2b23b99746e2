import type { KnownNames } from '../../../src/store-kit/index/attribute-names.js'
import { damagedNames } from '../../../src/store-kit/index/segment-source.js'
import { nextNames } from '../../../src/store-kit/maintenance/column-names.js'
import type { PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { askProgram, dialectOf } from './dialect.js'
import type { PostgresSegmentRow } from './index-state.js'

/** Reads the names of a segment; throws `DamagedSegment` if any is damaged or missing. */
export async function verifyNames(
  read: <Result>(act: (client: PostgresPoolClient) => Promise<Result>) => Promise<Result>,
  names: Names,
  known: KnownNames,
  { id, names: last }: PostgresSegmentRow,
): Promise<void> {
  while (known.last() < last) {
    const before = known.last()
    known.add(await read((client) => askProgram(client, nextNames(dialectOf(names), before))))
    if (known.last() === before) throw damagedNames(id)
  }
}
