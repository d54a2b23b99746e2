import type { ReadOptions, SharedTail } from '../../tail/shared-tail.js'
import { type Chunk, createChunks, type RenderFrame, type StreamView } from './chunks.js'

/** Sends new events of a log to any number of streams, which share what is rendered for them. */
export interface Broadcast {
  /** See `SharedTail.read`: chunks of the matching events. */
  read(view: StreamView, options: ReadOptions): Promise<AsyncGenerator<Chunk, void, void>>
}

/** `render` renders events for views without a `render` of their own. */
export function createBroadcast(shared: SharedTail, render: RenderFrame): Broadcast {
  const chunks = createChunks(render)
  return {
    read: (view, options) =>
      shared.read(
        {
          where: view.where,
          matches: view.matches,
          ofBatch: (batch, position) => chunks.ofBatch(batch, view, position),
          ofEvents: (events) => chunks.ofEvents(events, view),
        },
        options,
      ),
  }
}
