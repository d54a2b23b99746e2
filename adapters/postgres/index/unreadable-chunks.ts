import { AuditLogError } from '../../../src/errors.js'
import { DamagedSegment } from '../../../src/store-kit/index/segment-source.js'
import type { Ask } from '../connection/connection.js'
import { asAuditLogError, isCorrupt } from '../connection/failures.js'
import { createAttempt } from '../schema/find-unreadable.js'
import type { Names } from '../schema/names.js'
import { type Request, requestStatement, segmentOf } from './chunk-requests.js'

/** The failure of a statement for these requests, of which the server cannot read some. */
export class UnreadableChunks extends AuditLogError {
  readonly requests: readonly Request[]

  constructor(requests: readonly Request[], cause: unknown) {
    super('STORE_FAILED', asAuditLogError(cause).message, { cause })
    this.requests = requests
  }
}

/** Repeats the requests for each segment alone, in a transaction. Returns the segments that cannot be read. */
export async function findUnreadableSegments(
  ask: Ask,
  names: Names,
  requests: readonly Request[],
): Promise<readonly DamagedSegment[]> {
  const attempt = createAttempt(ask)
  const damaged: DamagedSegment[] = []
  for (const segment of new Set(requests.map(segmentOf))) {
    const own = requests.filter((request) => segmentOf(request) === segment)
    const { text, params } = requestStatement(names, own)
    const rows = await attempt(text, ...params)
    if (rows instanceof Error) damaged.push(new DamagedSegment(segment, rows.message))
  }
  return damaged
}

/** Runs a read of one segment. Damage that the server itself finds becomes a `DamagedSegment`. */
export async function readingSegment<Result>(
  segment: number,
  read: () => Promise<Result>,
): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    if (!isCorrupt(error)) throw error
    throw new DamagedSegment(segment, (error as Error).message)
  }
}
