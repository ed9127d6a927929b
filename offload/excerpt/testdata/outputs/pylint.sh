# pylint *.py: 60 modules with a dozen remarks on style each; one uses a name that does not exist.
for i in $(seq -w 1 60); do
  if [ $i = 33 ]; then printf '"""Fees."""\nimport decimal\n\n\ndef rate(code):\n    """Rate."""\n    return decimal.Dezimal(code) + undefined_rate\n' > fees_$i.py
  else printf 'import os\nimport sys\ndef Half(x,y):\n    error=1\n    return x\nclass report: pass\nretries=%s\n' $i > fees_$i.py; fi
done
pylint --score=n *.py
