import * as repairs from '../../../src/store-kit/maintenance/repairs.js'
import type { RebuildProgress } from '../../../src/store/verification.js'
import type { PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { askProgram, changeIndex, dialectOf } from './dialect.js'

/** Makes queries read the events of the segment one by one, until a round has built it anew. */
export const setDamaged = (
  client: PostgresPoolClient,
  names: Names,
  id: number,
): Promise<boolean> => changeIndex(client, repairs.setDamaged(dialectOf(names), id))

export const requestRebuild = (client: PostgresPoolClient, names: Names): Promise<void> =>
  askProgram(client, repairs.requestRebuild(dialectOf(names)))

export const isRebuildRequested = (client: PostgresPoolClient, names: Names): Promise<boolean> =>
  askProgram(client, repairs.isRebuildRequested(dialectOf(names)))

export const rebuildProgress = (
  client: PostgresPoolClient,
  names: Names,
): Promise<RebuildProgress> => askProgram(client, repairs.rebuildProgress(dialectOf(names)))
