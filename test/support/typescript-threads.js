import { isMainThread } from 'node:worker_threads'

/*
 * Lets threads run TypeScript sources, for `--import` beside whatever does so in the main thread: up
 * to Node 20 `tsx` leaves threads out, and vitest always does.
 */
if (!isMainThread) {
  const { register } = await import('tsx/esm/api')
  register()
}
