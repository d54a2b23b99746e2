/** Stands for the time zone of the browser in the user's choice. */
export const LOCAL = 'local'
