import { DeliveryError, type DeliveryFault } from '../../src/subscriptions/channel.js'

/** The parts of nodemailer's errors that are used here. */
interface MailError {
  readonly code?: string
  readonly responseCode?: number
  readonly command?: string
}

/** Faults that nodemailer detects without a response of the server, by its codes. Other faults are `smtp`. */
const FAULTS: Readonly<Record<string, DeliveryFault>> = {
  ECONNECTION: 'network',
  EDNS: 'network',
  ESOCKET: 'network',
  ETIMEDOUT: 'timeout',
}

/**
 * The error of a failed `sendMail`. It is permanent if the server permanently refuses the text, also because of its
 * size. If the server refuses the sender or the recipients, it would refuse every message. So later events wait until
 * the server or the channel is changed.
 */
export function mailFault(cause: unknown): DeliveryError {
  if (cause instanceof DeliveryError) return cause
  const error = Object(cause) as MailError
  const { code = '', responseCode } = error
  const kind = responseCode === undefined ? (FAULTS[code] ?? 'smtp') : 'smtp'
  const permanent = code === 'EMESSAGE' && responseCode !== undefined && responseCode >= 500
  return new DeliveryError(kind, describe(error), { permanent, cause })
}

// The message of nodemailer is not used, because it quotes the text of the server, which may contain anything.
function describe({ code, responseCode, command }: MailError): string {
  if (responseCode === undefined) return `the e-mail could not be sent: ${code ?? 'unknown error'}`
  return `the mail server responded with ${responseCode}${command === undefined ? '' : ` to ${command}`}`
}
