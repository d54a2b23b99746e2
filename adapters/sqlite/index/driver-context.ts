import type { IndexBounds } from '../../../src/store-kit/index/index-bounds.js'
import type { StepRunner } from '../../../src/store-kit/index-builder/steps.js'
import type { Connection } from '../connection/connection.js'
import type { Compression } from './compression.js'

/** Parts that building the index of a file uses. Reads run on the connection at once, writes through `write`. */
export interface DriverContext {
  readonly connection: Connection
  readonly steps: StepRunner
  readonly bounds: IndexBounds
  /** Runs `act` in one write transaction, again if it failed because of a lock, then rests. */
  readonly write: <Result>(act: () => Result) => Promise<Result>
  /** @default 'none' */
  readonly compression?: Compression | undefined
}
