import type { IndexBounds } from '../../../src/store-kit/index/index-bounds.js'
import type { StepRunner } from '../../../src/store-kit/index-builder/steps.js'
import type { PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'

export type RunTransaction = <Result>(
  act: (client: PostgresPoolClient) => Promise<Result>,
) => Promise<Result>

/** Parts that building the index of a log uses. */
export interface DriverContext {
  readonly names: Names
  readonly steps: StepRunner
  readonly bounds: IndexBounds
  /** If the index is this many segments behind, the builder does not rest while events are written. */
  readonly maxBehind: number
  /** Runs `act`, a short transaction, on a connection of the pool, then rests. */
  readonly run: RunTransaction
  /** Starts `act` likewise; see `StepRunner`. */
  readonly start: RunTransaction
}
