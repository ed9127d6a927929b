# pip install -v of 15 packages that lie beside it, none of which needs another; the C part of the eighth does not compile.
for p in $(seq -w 1 15); do
  mkdir -p src/meter-$p/meter_$p
  { echo 'from setuptools import setup, Extension'
    echo "setup(name='meter-$p', version='2.1.$((10#$p))', packages=['meter_$p'], ext_modules=[Extension('meter_$p.fast', ['fast.c'])])"; } > src/meter-$p/setup.py
  for m in 1 2 3 4 5 6; do echo "value = $m" > src/meter-$p/meter_$p/error_$m.py; done
  echo > src/meter-$p/meter_$p/__init__.py
  { echo '#include <Python.h>'; [ $p = 08 ] && echo 'static PyObject *hidden = PyUnicode_InternFromSting("error");'
    echo "static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, \"fast\", 0, -1, 0};"
    echo "PyMODINIT_FUNC PyInit_fast(void) { return PyModule_Create(&def); }"; } > src/meter-$p/fast.c
done
for p in $(seq -w 1 15); do /usr/bin/python3 -m pip install -v --break-system-packages --target site --no-index --no-build-isolation --disable-pip-version-check ./src/meter-$p; done
