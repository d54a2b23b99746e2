import autocannon from 'autocannon'
import { quantile } from '../harness/meter.js'

/* A client in a process of its own: to each Job it gives an Answer. */

export interface Job {
  readonly url: string
  /** Puts the request's number into the URL, in the place of its last `000000`. */
  readonly isNumbered?: boolean
  readonly connections: number
  readonly seconds: number
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Answer {
  /** Answers of the whole time. */
  readonly answered: number
  readonly perSecond: number
  /** Milliseconds from a request to the end of its answer. */
  readonly p50: number
  readonly p99: number
}

/** Gives each request of all connections a path of its own. */
function numbered(url: string): (request: autocannon.Request) => autocannon.Request {
  const { pathname, search } = new URL(url)
  const [before, after] = `${pathname}${search}`.split('000000')
  let number = 0
  return (request) => ({
    ...request,
    path: `${before}${String(number++ % 1_000_000).padStart(6, '0')}${after}`,
  })
}

async function load(job: Job): Promise<Answer> {
  const { url, isNumbered, connections, seconds, method, headers, body } = job
  const times: number[] = []
  // Of the first requests each waits for its connection.
  let rest = connections
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const options = {
      url,
      connections,
      duration: seconds,
      method,
      headers,
      ...(body && { body }),
      ...(isNumbered && { requests: [{ setupRequest: numbered(url) }] }),
    }
    const running = autocannon(options, (error, result) =>
      error ? reject(error) : resolve(result),
    )
    running.on('response', (_client, _status, _bytes, time) => {
      if (rest > 0) rest--
      else times.push(time)
    })
  })
  const { errors, timeouts, non2xx } = result
  if (errors + timeouts + non2xx > 0)
    throw new Error(`${url}: ${errors} errors, ${timeouts} timeouts, ${non2xx} other statuses`)
  const sorted = Float64Array.from(times).toSorted()
  return {
    answered: result['2xx'],
    perSecond: result['2xx'] / result.duration,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
  }
}

process.on('message', (job: Job) => void load(job).then((answer) => process.send!(answer)))
process.send!('ready')
