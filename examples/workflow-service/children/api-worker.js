import { scryptSync } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { serve } from './serve.js'

/* A worker of the API: computes reports. */

/** Allocations that the last report keeps in memory. */
const kept = []

serve({
  async report({ text, wait_ms, keep_mb }) {
    kept.length = 0
    for (let n = 0; n < keep_mb; n++) kept.push(Buffer.alloc(1 << 20, 1))
    await delay(wait_ms)
    return scryptSync(text, 'report', 16).toString('hex')
  },
  memory: () => process.memoryUsage.rss(),
})
