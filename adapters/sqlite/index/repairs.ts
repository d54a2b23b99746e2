import * as repairs from '../../../src/store-kit/maintenance/repairs.js'
import type { RebuildProgress } from '../../../src/store/verification.js'
import type { Connection } from '../connection/connection.js'
import { DIALECT, runProgram } from './dialect.js'

/** Makes queries read the events of the segment one by one, within a transaction, until a round has built it anew. */
export const setDamaged = (connection: Connection, id: number): void =>
  void runProgram(connection, repairs.setDamaged(DIALECT, id))

/** Call it within a transaction. */
export const requestRebuild = (connection: Connection): void =>
  runProgram(connection, repairs.requestRebuild(DIALECT))

export const isRebuildRequested = (connection: Connection): boolean =>
  runProgram(connection, repairs.isRebuildRequested(DIALECT))

export const rebuildProgress = (connection: Connection): RebuildProgress =>
  runProgram(connection, repairs.rebuildProgress(DIALECT))
