import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import type { Arrived } from './received.js'

export interface MailSink {
  readonly port: number
  close(): Promise<void>
}

const ENCODED_WORD = /=\?utf-8\?([bq])\?([^?]*)\?=(?:\s+(?==\?))?/gi

/** The text of words such as `=?UTF-8?Q?caf=C3=A9?=` (RFC 2047). */
const decodeWords = (text: string): string =>
  text.replaceAll(ENCODED_WORD, (_, encoding: string, word: string) =>
    encoding.toLowerCase() === 'b'
      ? Buffer.from(word, 'base64').toString()
      : decodeURIComponent(word.replaceAll('%', '%25').replaceAll('_', ' ').replaceAll('=', '%')),
  )

/** The value of a header, which may go on in further lines. */
function headerOf(source: string, name: string): string {
  const value = new RegExp(`^${name}: (.*(?:\\r?\\n[ \\t].*)*)`, 'im').exec(source)?.[1] ?? ''
  return decodeWords(value.replaceAll(/\r?\n(?=[ \t])/g, ''))
}

/** An SMTP server that takes every mail and delivers none. */
export async function startMailSink(arrived: Arrived): Promise<MailSink> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData(stream, session, done) {
      let source = ''
      stream.setEncoding('utf8').on('data', (text: string) => (source += text))
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address).join(', ')
        const subject = headerOf(source, 'subject')
        arrived({ at: new Date(), kind: 'mail', title: `${subject} to ${to}`, text: source })
        done()
      })
    },
  })
  // A connection that ends early is not the demo's concern.
  server.on('error', () => {})
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    port: (server.server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
