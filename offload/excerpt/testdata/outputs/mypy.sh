# mypy --strict .: 180 modules without types; one returns text as a number.
for i in $(seq -w 1 180); do
  if [ $i = 091 ]; then printf 'def rate(code: str) -> int:\n    return code\n' > fees_$i.py
  else printf 'def half(x):\n    return x\ndef error_of(x, y):\n    return half(x)\n' > fees_$i.py; fi
done
mypy --strict --no-error-summary *.py
