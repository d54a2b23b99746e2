import type { AddressInfo, Socket } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface ReceivedMail {
  readonly sender: string
  readonly recipients: readonly string[]
  /** The header and the body as they were sent. */
  readonly source: string
}

export interface MailServer {
  readonly port: number
  /** The accepted mails, and the mails whose connection was lost after the text. */
  readonly mails: ReceivedMail[]
  close(): Promise<void>
}

export interface MailServerOptions extends Pick<
  SMTPServerOptions,
  'onMailFrom' | 'onRcptTo' | 'size'
> {
  /**
   * Called for the text of each mail. Returns an error that refuses it, or `drop` to close the connection without a
   * response.
   */
  readonly answer?: (mail: ReceivedMail) => SmtpError | 'drop' | undefined
}

/** An error with the response code that the server sends. */
export class SmtpError extends Error {
  readonly responseCode: number

  constructor(responseCode: number, message = 'not accepted') {
    super(message)
    this.responseCode = responseCode
  }
}

const servers: MailServer[] = []

/** An SMTP server on this computer, without encryption and authentication. */
export async function receiveMails(options: MailServerOptions = {}): Promise<MailServer> {
  const { answer = () => undefined, ...rest } = options
  const mails: ReceivedMail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    closeTimeout: 100,
    ...rest,
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        const mail = {
          sender: mailFrom === false ? '' : mailFrom.address,
          recipients: rcptTo.map(({ address }) => address),
          source: Buffer.concat(chunks).toString(),
        }
        const result = answer(mail)
        if (result instanceof SmtpError) return done(result)
        mails.push(mail)
        if (result === 'drop') return dropConnections()
        return done()
      })
    },
  })
  const sockets = new Set<Socket>()
  server.server.on('connection', (socket: Socket) => sockets.add(socket))
  const dropConnections = (): void => sockets.forEach((socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  const mailServer = {
    port,
    mails,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
  servers.push(mailServer)
  return mailServer
}

export async function closeMailServers(): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => server.close()))
}

/** The header of a mail as names in lower case and values, with folded lines joined. */
export function headerOf({ source }: ReceivedMail): ReadonlyMap<string, string> {
  const [header = ''] = source.split('\r\n\r\n', 1)
  const lines = header.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
}
