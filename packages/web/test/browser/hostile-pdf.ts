interface HostilePdf {
  /** What the page shows. Default: nothing. */
  readonly text?: string
  /** Whether the script opens a dialog first, which stops the tab until it is closed. Default: true. */
  readonly opensDialog?: boolean
}

/** A PDF of one line of text that runs a script as soon as it is opened. */
export function hostilePdf({ text = '', opensDialog = true }: HostilePdf = {}): Uint8Array {
  const page = `BT /F1 24 Tf 20 100 Td (${text}) Tj ET`
  const dialog = opensDialog ? "app.alert\\('run'\\); " : ''
  const script = `${dialog}this.submitForm\\('/run'\\); app.launchURL\\('/run'\\)`
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (${script}) >> >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${page.length} >>\nstream\n${page}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  const parts = [
    '%PDF-1.7\n',
    ...objects.map((each, index) => `${index + 1} 0 obj\n${each}\nendobj\n`),
  ]
  const offsets = parts.map((_, index) => parts.slice(0, index).join('').length)
  const rows = offsets.slice(1).map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`)
  const size = objects.length + 1
  const end = [
    `xref\n0 ${size}\n0000000000 65535 f \n${rows.join('')}`,
    `trailer << /Size ${size} /Root 1 0 R >>\nstartxref\n${parts.join('').length}\n%%EOF\n`,
  ]
  return new TextEncoder().encode([...parts, ...end].join(''))
}
