import type { Builder } from './builder.js'

/**
 * Removes a segment that is not visible. Its row goes last, so that a segment that was removed in part is
 * found again. A visible segment stays: its builder was slow, and has published it after all.
 */
export async function dropSegment({ driver }: Pick<Builder, 'driver'>, id: number): Promise<void> {
  if (!(await driver.markGone(id))) return
  await driver.deleteChunks(id)
  await driver.deleteSegment(id)
}

async function dropAll(builder: Builder, ids: readonly number[]): Promise<boolean> {
  for (const id of ids) await dropSegment(builder, id)
  return ids.length > 0
}

/**
 * Removes the hidden segments of processes that ended before they published them. Returns false if
 * there are none. A process that is still building one of them stops when it finds it marked as gone.
 */
export const dropAbandoned = async (builder: Builder): Promise<boolean> =>
  dropAll(builder, await builder.driver.hiddenSegments())

/**
 * Removes the segments whose events are all older than the oldest event of the log; returns false if there
 * are none. An event that is added at such a time later is listed as late.
 */
export const dropExpired = async (builder: Builder): Promise<boolean> =>
  dropAll(builder, await builder.driver.hideExpired())
