import http from 'node:http'
import { quantile } from 'simple-statistics'
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
  /** Milliseconds from `record` until a reader has the event; slow readers excluded. */
  readonly p50: number
  readonly p99: number
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
}

const delays: number[] = []
const readers: Reader[] = []
let isFinishing = false

function take(reader: Reader, index: number, frame: string): void {
  // Comments and the first line are not events.
  const at = frame.indexOf('"seq":')
  if (at < 0) return
  const seq = Number.parseInt(frame.slice(at + 6), 10)
  if (seq < reader.next) {
    reader.repeated++
    return
  }
  reader.missed += seq - reader.next
  reader.next = seq + 1
  if (reader.isSlow || seq % SAMPLE_INTERVAL !== index % SAMPLE_INTERVAL) return
  const recordedAt = Number.parseInt(frame.slice(frame.indexOf('"at":') + 5), 10) / 1000
  delays.push(performance.timeOrigin + performance.now() - recordedAt)
}

function read(reader: Reader, index: number): void {
  const { response, isSlow } = reader
  let rest = ''
  response.setEncoding('latin1').on('data', (chunk: string) => {
    const frames = (rest + chunk).split('\n\n')
    rest = frames.pop()!
    for (const frame of frames) take(reader, index, frame)
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
    const reader = { response, isSlow, next: first, missed: 0, repeated: 0 }
    readers.push(reader)
    read(reader, index)
  }
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
  return {
    missed: sum(({ missed, next }) => missed + Math.max(0, last + 1 - next)),
    repeated: sum(({ repeated }) => repeated),
    p50: quantile(delays, 0.5),
    p99: quantile(delays, 0.99),
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
