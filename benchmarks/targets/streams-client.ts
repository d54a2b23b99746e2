import http from 'node:http'
import { max, quantile } from 'simple-statistics'
import { AUTHORIZATION } from '../harness/listen.js'
import { serveJobs } from '../harness/workers.js'

/*
 * Many readers of one event stream. `open` connects them; `finish` is sent when all events have been
 * recorded, `leave` disconnects them at once. Each reader checks that the attribute `seq` of the events
 * counts up by one.
 */

export type Job =
  | { readonly open: Opening }
  | 'leave'
  | { readonly finish: { readonly last: number; readonly withinSeconds: number } }

export interface Opening {
  readonly url: string
  readonly readers: number
  /** The number of slow ones among them. */
  readonly slow: number
  /** The number of the first event. */
  readonly first: number
}

export interface Answer {
  /** Sums over all readers: events that a reader did not receive, and that it received again or too late. */
  readonly missed: number
  readonly repeated: number
  readonly megabytes: number
  /** Milliseconds from `record` until a reader has the event; slow readers excluded. */
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** Share of one processor core. */
  readonly cpu: number
}

const HEADERS = { authorization: AUTHORIZATION }
/** The delay of every n-th event is measured; different events for each reader. */
const SAMPLE_INTERVAL = 50
const SLOW_PAUSE_MS = 1000

interface Reader {
  readonly response: http.IncomingMessage
  readonly isSlow: boolean
  /** The number of the next event. */
  next: number
  missed: number
  repeated: number
  bytes: number
}

const delays: number[] = []
const readers: Reader[] = []
let isFinishing = false
let openedAt = 0
let cpuAtOpen: NodeJS.CpuUsage | undefined

/*
 * All events have the same length on the wire, so a reader can skip from one to the next. Reading every
 * byte would take processor time from the service, which runs on the same machine.
 */
interface Shape {
  readonly length: number
  readonly seq: number
  readonly at: number
}

const BEGIN = Buffer.from('id: ')
let shape: Shape | undefined

function shapeOf(frame: Buffer): Shape {
  const endOf = (key: string): number => frame.indexOf(key) + key.length
  return { length: endOf('\n\n'), seq: endOf('"seq":'), at: endOf('"at":') }
}

function digitsAt(bytes: Buffer, start: number): number {
  let value = 0
  for (let i = start; ; i++) {
    const digit = bytes[i]! - 0x30
    if (!(digit >= 0 && digit <= 9)) return value
    value = value * 10 + digit
  }
}

function take(reader: Reader, index: number, seq: number, recordedAt: () => number): void {
  if (seq < reader.next) {
    reader.repeated++
    return
  }
  reader.missed += seq - reader.next
  reader.next = seq + 1
  if (!reader.isSlow && seq % SAMPLE_INTERVAL === index % SAMPLE_INTERVAL)
    delays.push(performance.timeOrigin + performance.now() - recordedAt() / 1000)
}

function read(reader: Reader, index: number): void {
  const { response, isSlow } = reader
  let rest: Buffer = Buffer.alloc(0)
  response.on('data', (chunk: Buffer) => {
    reader.bytes += chunk.length
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    let done = 0
    for (;;) {
      // Comments and the first line are not events.
      const begin = bytes[done] === BEGIN[0] ? done : bytes.indexOf(BEGIN, done)
      if (begin < 0) break
      done = begin
      if (!shape && bytes.includes('\n\n', begin)) shape = shapeOf(bytes.subarray(begin))
      if (!shape || bytes.length < begin + shape.length) break
      const { length, seq, at } = shape
      take(reader, index, digitsAt(bytes, begin + seq), () => digitsAt(bytes, begin + at))
      done = begin + length
    }
    rest = Buffer.from(bytes.subarray(done))
    if (!isSlow || isFinishing) return
    response.pause()
    setTimeout(() => response.resume(), SLOW_PAUSE_MS)
  })
}

function connect(url: string): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    http.get(url, { headers: HEADERS, agent: false }, resolve).on('error', reject)
  })
}

/** More connections at once would exceed the queue of the listening socket. */
const OPENED_AT_ONCE = 100

async function connectAll(url: string, count: number): Promise<http.IncomingMessage[]> {
  const responses: http.IncomingMessage[] = []
  while (responses.length < count) {
    const length = Math.min(OPENED_AT_ONCE, count - responses.length)
    responses.push(...(await Promise.all(Array.from({ length }, () => connect(url)))))
  }
  return responses
}

async function open({ url, slow, first, ...opening }: Opening): Promise<void> {
  const responses = await connectAll(url, opening.readers)
  for (const [index, response] of responses.entries()) {
    if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode}`)
    const isSlow = index < slow
    const reader = { response, isSlow, next: first, missed: 0, repeated: 0, bytes: 0 }
    readers.push(reader)
    read(reader, index)
  }
  openedAt = performance.now()
  cpuAtOpen = process.cpuUsage()
}

function leave(): void {
  for (const { response } of readers) response.destroy()
}

async function finish(last: number, withinSeconds: number): Promise<Answer> {
  isFinishing = true
  const end = performance.now() + withinSeconds * 1000
  const isMissing = (): boolean => readers.some(({ next }) => next <= last)
  while (isMissing() && performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, 50))
  leave()
  const sum = (value: (reader: Reader) => number): number =>
    readers.reduce((total, reader) => total + value(reader), 0)
  const { user, system } = process.cpuUsage(cpuAtOpen)
  return {
    missed: sum(({ missed, next }) => missed + Math.max(0, last + 1 - next)),
    repeated: sum(({ repeated }) => repeated),
    megabytes: sum(({ bytes }) => bytes) / 1e6,
    p50: quantile(delays, 0.5),
    p99: quantile(delays, 0.99),
    max: max(delays),
    cpu: (user + system) / 1000 / (performance.now() - openedAt),
  }
}

async function run(job: Job): Promise<unknown> {
  if (job === 'leave') {
    leave()
    return 'left'
  }
  if ('finish' in job) return finish(job.finish.last, job.finish.withinSeconds)
  await open(job.open)
  return 'open'
}

serveJobs(run)
