import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { withBundledTarget } from '../harness/bundled-target.js'
import { type Print, whole } from '../harness/format.js'
import { goalFor, type Row, rowOf } from '../harness/results.js'
import { withTempFolder } from '../harness/temp.js'
import { Worker } from '../harness/workers.js'
import type { Answer as ClientAnswer, Job as ClientJob } from '../targets/streams-client.js'
import type { Answer as ServerAnswer, Job as ServerJob } from '../targets/streams-server.js'

/* The memory of a service whose streams have many readers and no events. */

const READERS = 10_000
const MAX_MIB = 300
/** Longer than the period of the comments that keep a stream alive. */
const IDLE_SECONDS = 20

const mebibytes: Print = (value) => `${whole(value)} MiB`

/** Connects readers, each by a connection of its own, to a service in another process, which runs without tsx. */
export const measureIdleReaders = (): Promise<Row> =>
  withTempFolder(async (folder) => {
    const filename = path.join(folder, 'idle.db')
    const server = await withBundledTarget('streams-server.ts', (file) =>
      Worker.start<ServerJob, ServerAnswer>(file, filename),
    )
    const url = (await server.ask('listen')) as string
    const client = await Worker.start<ClientJob, ClientAnswer>('streams-client.ts', null)
    const before = (await server.ask('memory')) as number
    await client.ask({ open: { url, readers: READERS, slow: 0, first: 0 } })
    await delay(IDLE_SECONDS * 1000)
    const after = (await server.ask('memory')) as number
    await client.ask('leave')
    await client.end()
    await server.end()
    return rowOf({
      group: '`GET /api/events/stream` without events: memory of the service',
      name: `${whole(READERS)} readers, ${IDLE_SECONDS} s after the last has connected`,
      daybook: [after],
      reference: { name: 'before the first', figures: [before] },
      print: mebibytes,
      goals: [goalFor('below', MAX_MIB, [after], { print: mebibytes })],
    })
  })
