# for f in flux_*.f90; do gfortran -Wall -c $f; done: 90 files with warnings; one calls what is not there in a type that it has not.
for i in $(seq -w 1 90); do
  if [ $i = 46 ]; then printf 'subroutine flux(a)\n real :: a\n a = pressure + "x"\nend subroutine\n' > flux_$i.f90
  else printf 'subroutine flux%s(a,b)\n integer :: a, error%s\n real :: b\n a = b\n if (b == 1.0) a = 2\nend subroutine\n' $i $i > flux_$i.f90; fi
done
for f in flux_*.f90; do gfortran -Wall -c $f; done
