import { loadPackage } from '../../src/store/packages.js'
import { AuditLogError } from '../../src/errors.js'

/** A message as nodemailer takes it. */
export interface MailMessage {
  readonly from: { name: string; address: string }
  readonly to: string[]
  readonly subject: string
  readonly text: string
  readonly html?: string
  readonly messageId: string
  readonly headers: { [name: string]: string }
  /** Keeps nodemailer from reading texts of events as names of files or URLs. */
  readonly disableFileAccess: true
  readonly disableUrlAccess: true
  readonly signal: AbortSignal
}

/** Sends e-mails: a transporter of nodemailer (7 or newer), or an object with the same method. */
export interface MailTransport {
  sendMail(message: MailMessage): Promise<unknown>
}

/** A transporter, or the argument of nodemailer's `createTransport`: its options, or an `smtp:` or `smtps:` URL. */
export type MailTransportOption = MailTransport | string | object

interface Nodemailer {
  createTransport(options: string | object): MailTransport
}

const isTransport = (given: MailTransportOption): given is MailTransport =>
  typeof (Object(given) as Partial<MailTransport>).sendMail === 'function'

/** Throws `MISSING_DEPENDENCY` if nodemailer is needed and is not installed. */
export function openTransport(given: MailTransportOption): MailTransport {
  if (isTransport(given)) return given
  const isGiven = given !== null && (typeof given === 'object' || typeof given === 'string')
  if (!isGiven || given === '')
    throw new AuditLogError(
      'INVALID_OPTION',
      'transport must be a transporter of nodemailer, its options, or an smtp: URL',
    )
  const nodemailer = loadPackage({
    name: 'nodemailer',
    neededBy: 'the options of an e-mail transport',
    otherwise: ', or pass a transport of your own with the method sendMail',
  })
  return (nodemailer as Nodemailer).createTransport(given)
}

/** Result of sending a message. */
export interface MailResult {
  /** The `Message-ID`, as returned by the mail server or nodemailer. */
  readonly messageId: string | undefined
  readonly accepted: readonly string[]
  readonly rejected: readonly string[]
  /** The response code of the server for the first recipient that was refused. */
  readonly rejectedCode: number | undefined
}

/** An address as a text, or as `{ address }` in results of some transports. */
const addressOf = (given: unknown): string =>
  typeof given === 'string' ? given : String((Object(given) as { address?: unknown }).address)

/** Reads the result of `sendMail`. A transport without lists of recipients has accepted all. */
export function readMailResult(given: unknown, recipients: readonly string[]): MailResult {
  const { messageId, accepted, rejected, rejectedErrors } = Object(given) as Readonly<
    Record<string, unknown>
  >
  const [error] = Array.isArray(rejectedErrors) ? (rejectedErrors as unknown[]) : []
  const { responseCode } = Object(error) as { responseCode?: unknown }
  return {
    messageId: typeof messageId === 'string' ? messageId : undefined,
    accepted: Array.isArray(accepted) ? accepted.map(addressOf) : recipients,
    rejected: Array.isArray(rejected) ? rejected.map(addressOf) : [],
    rejectedCode: typeof responseCode === 'number' ? responseCode : undefined,
  }
}
